import{a,b}from"./chunk-b30fbe23bfbf.js";import"./chunk-58c72cbb1606.js";export{a as loadRecordedEnd,b as toFinishedGame};
