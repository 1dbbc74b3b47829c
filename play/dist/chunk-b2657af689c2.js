import{a,b}from"./chunk-52bf7f5655c1.js";import"./chunk-b4e8de0bf830.js";export{a as loadRecordedEnd,b as toFinishedGame};
