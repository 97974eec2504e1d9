// Stored bytes of custom resources. Every served version has a codec of its own over the same bytes, which are in the storage version.
// Upstream: apiextensions-apiserver@v0.30.3:pkg/apiserver/customresource_handler.go#crdConversionRESTOptionsGetter
import { isObject } from '../../apiextensions/schema/json.ts';
import type { ApiObject } from '../../storage/api-object.ts';
import { ownBytes } from '../../storage/own-bytes.ts';
import type { StorageCodec } from '../../storage/storage-factory.ts';
import { asApiObject, type CustomVersion, sortKeys } from './custom-version.ts';

/** Decoding prunes and defaults by the schema of `served`, so a changed schema shows at once in old objects. */
export function customCodec(served: CustomVersion, storage: CustomVersion): StorageCodec {
  const decode = (bytes: Buffer): ApiObject => {
    const parsed: unknown = JSON.parse(bytes.toString('utf8'));
    if (!isObject(parsed)) throw new Error('not an object');
    const { object } = served.coerce(served.convert(parsed), { fromStorage: true });
    return asApiObject(sortKeys(served.withDefaults(object)));
  };
  return {
    decode,
    encode(object) {
      const { resourceVersion: _version, selfLink: _link, ...metadata } = object.metadata;
      const converted = storage.convert({ ...object, metadata });
      const stored = served === storage ? converted : storage.coerce(converted).object;
      return ownBytes(JSON.stringify(sortKeys(stored)));
    },
    // A status that a strategy took away gets its defaults on the way back.
    readBack: (object, bytes) =>
      served === storage && served.withDefaults(object) === object ? object : decode(bytes),
  };
}
