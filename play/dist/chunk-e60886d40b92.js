import{a,b}from"./chunk-c0ba7dfc6aeb.js";import"./chunk-a0314050401b.js";export{a as loadRecordedEnd,b as toFinishedGame};
