import{a,b}from"./chunk-bf6057a5086e.js";import"./chunk-363c7582dc2b.js";export{a as loadRecordedEnd,b as toFinishedGame};
