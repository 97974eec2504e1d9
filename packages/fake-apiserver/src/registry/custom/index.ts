// CustomResourceDefinitions and what they define.
export { CrdStore } from './crd-store.ts';
export { crdStrategy } from './crd-strategy.ts';
export { CustomResources, type CustomResourcesOptions } from './custom-resources.ts';
