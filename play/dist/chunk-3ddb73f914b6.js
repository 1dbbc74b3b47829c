import{a,b}from"./chunk-bd91766ebed2.js";import"./chunk-616f432c6715.js";export{a as loadRecordedEnd,b as toFinishedGame};
