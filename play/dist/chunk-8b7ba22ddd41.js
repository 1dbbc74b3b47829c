import{a,b}from"./chunk-911d15740bf7.js";import"./chunk-85c5436e4161.js";export{a as loadRecordedEnd,b as toFinishedGame};
