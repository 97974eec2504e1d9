// Bytes of stored objects in protobuf, cached with the object like their JSON.
// Upstream: apimachinery@v0.30.3:pkg/runtime/serializer/protobuf/protobuf.go
import type { Status, WatchEventType } from '@kube-rx/apimachinery';
import {
  encodeProtobuf,
  encodeProtobufItem,
  encodeWatchEventProtobuf,
  type ProtobufObject,
} from '../protobuf/index.ts';
import type { ApiObject } from '../storage/api-object.ts';
import { ownCopy } from '../storage/own-bytes.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { WireFrame } from './http.ts';
import { type FrameKeys, frameKeysOf, LastFrame, makeFrame, type ObjectEncoder, viewFrame } from './object-encoder.ts';

const LENGTH_PREFIX_BYTES = 4;

/** The object, or with a version its metadata. */
export class ProtobufEncoder implements ObjectEncoder {
  readonly identifier: string;
  readonly contentType = 'application/vnd.kubernetes.protobuf';
  readonly streamContentType = 'application/vnd.kubernetes.protobuf;stream=watch';
  readonly #metadataVersion: string | undefined;
  readonly #frameKeys: FrameKeys;
  readonly #last = new LastFrame();

  constructor(metadataVersion?: string) {
    this.#metadataVersion = metadataVersion;
    this.identifier = metadataVersion === undefined ? 'protobuf' : `protobuf;metadata;${metadataVersion}`;
    this.#frameKeys = frameKeysOf(this.identifier);
  }

  encode(stored: StoredObject): Buffer {
    return stored.encoding(this.identifier, (object) => ownCopy(encodeProtobuf(this.#shown(object))));
  }

  /** A piece of a list; see {@link encodeProtobufItem}. */
  encodeItem(stored: StoredObject): Buffer {
    return stored.encoding(`${this.identifier};item`, (object) => ownCopy(encodeProtobufItem(this.#shown(object))));
  }

  frame(type: WatchEventType, stored: StoredObject): WireFrame {
    return this.#last.get(type, stored, () =>
      viewFrame(
        stored.encoding(this.#frameKeys[type], (object) => {
          const body = encodeProtobuf(this.#shown(object));
          return makeFrame([encodeWatchEventProtobuf(type, body)]).chunk;
        }),
      ),
    );
  }

  errorFrame(status: Status): WireFrame {
    return makeFrame([encodeWatchEventProtobuf('ERROR', encodeStatus(status))]);
  }

  /** WebSocket messages have no length in front. */
  message(frame: WireFrame): Buffer {
    return frame.bytes.subarray(LENGTH_PREFIX_BYTES);
  }

  #shown(object: ApiObject): ProtobufObject {
    if (this.#metadataVersion === undefined) return object;
    const apiVersion = `meta.k8s.io/${this.#metadataVersion}`;
    return { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata } as ProtobufObject;
  }
}

export function encodeStatus(status: Status): Buffer {
  return encodeProtobuf({ ...status, kind: 'Status', apiVersion: 'v1' } as ProtobufObject);
}
