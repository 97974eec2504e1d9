// Protobuf of built-in kinds, as pure functions between plain JSON and bytes.
export {
  decodeProtobuf,
  encodeProtobuf,
  encodeProtobufList,
  encodeProtobufMessage,
  encodeWatchEventProtobuf,
  hasProtobuf,
  PROTOBUF_MAGIC,
  type ProtobufObject,
  readProtobufKind,
} from './codec.ts';
export { ProtobufError } from './reader.ts';
