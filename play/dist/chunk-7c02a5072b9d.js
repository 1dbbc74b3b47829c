import{a,b}from"./chunk-23ba59a0a55f.js";import"./chunk-d5147f33a24a.js";export{a as loadRecordedEnd,b as toFinishedGame};
