import{a,b}from"./chunk-8f1ade14b400.js";import"./chunk-745c55b3f3b2.js";export{a as loadRecordedEnd,b as toFinishedGame};
