export { type OpenApiDocument, type OpenApiV2Document, openApiV2, openApiV3, openApiV3Index } from './document.js'
