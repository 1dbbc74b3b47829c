import{a,b}from"./chunk-bb7a31722997.js";import"./chunk-5fc6c6ccb426.js";export{a as loadRecordedEnd,b as toFinishedGame};
