// Protobuf of built-in kinds, as pure functions between plain JSON and bytes.
export {
  decodeProtobuf,
  encodeProtobuf,
  encodeProtobufItem,
  encodeProtobufList,
  encodeWatchEventProtobuf,
  hasProtobuf,
  PROTOBUF_MAGIC,
  type ProtobufObject,
  readProtobufKind,
} from './codec.ts';
export { ProtobufError } from './reader.ts';
