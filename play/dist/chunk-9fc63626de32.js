import{a,b}from"./chunk-138ce764497b.js";import"./chunk-5ff69d797b2c.js";export{a as loadRecordedEnd,b as toFinishedGame};
