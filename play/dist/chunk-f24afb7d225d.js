import{a,b}from"./chunk-9441e03aadf5.js";import"./chunk-093fb617603e.js";export{a as loadRecordedEnd,b as toFinishedGame};
