import{a,b}from"./chunk-e76de7a1b8e3.js";import"./chunk-d446b697bb86.js";export{a as loadRecordedEnd,b as toFinishedGame};
