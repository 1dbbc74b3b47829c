import{a,b}from"./chunk-b57110c0a9fb.js";import"./chunk-4e721f4c882a.js";export{b as endOf,a as recorded};
