import{a,b}from"./chunk-9d4c09e9cef9.js";import"./chunk-030ce6a4329b.js";export{a as loadRecordedEnd,b as toFinishedGame};
