import{a,b}from"./chunk-f20acc4730ad.js";import"./chunk-3b89cb57f3de.js";export{a as loadRecordedEnd,b as toFinishedGame};
