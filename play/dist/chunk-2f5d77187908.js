import{a,b}from"./chunk-de2fc67dcced.js";import"./chunk-62e1bda848a0.js";export{b as endOf,a as recorded};
