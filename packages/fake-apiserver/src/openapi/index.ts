// OpenAPI documents from the same data that decoding, patches and apply use.
export { createOpenApi, OpenApi, type OpenApiBody, type OpenApiOptions } from './openapi.ts';
export { type OpenApiRequest, type OpenApiResponse, serveOpenApi } from './serve-openapi.ts';
