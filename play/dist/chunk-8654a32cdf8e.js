import{a,b}from"./chunk-e16b9bfb716e.js";import"./chunk-96a09faf9dba.js";export{a as loadRecordedEnd,b as toFinishedGame};
