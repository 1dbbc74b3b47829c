import{a,b}from"./chunk-4f3d9abf5dab.js";import"./chunk-7588081428fe.js";export{a as loadRecordedEnd,b as toFinishedGame};
