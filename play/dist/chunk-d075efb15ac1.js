import{a,b}from"./chunk-0b1fec232cb0.js";import"./chunk-7d22be8b6d96.js";export{b as endOf,a as recorded};
