// Stored bytes of an object: JSON in canonical field order, so that equal objects have equal bytes.
// Differs: upstream stores built-in kinds as protobuf; nobody but the server reads these bytes.
import type { ApiObject } from '../storage/api-object.ts';
import { ownBytes } from '../storage/own-bytes.ts';
import type { StorageCodec } from '../storage/storage-factory.ts';

export const jsonCodec: StorageCodec = {
  encode(object) {
    const { resourceVersion: _version, selfLink: _link, ...metadata } = object.metadata;
    return ownBytes(JSON.stringify({ ...object, metadata }));
  },
  decode(bytes) {
    return JSON.parse(bytes.toString('utf8')) as ApiObject;
  },
};
