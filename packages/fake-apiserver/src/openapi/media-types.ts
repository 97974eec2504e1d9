// What both versions of the documents say about media types and status codes. The order of patch types is each version's own.

export const MEDIA_TYPES: readonly string[] = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
];
export const WATCH_TYPES: readonly string[] = [
  'application/json;stream=watch',
  'application/vnd.kubernetes.protobuf;stream=watch',
];
export const CUSTOM_MEDIA_TYPES: readonly string[] = ['application/json', 'application/yaml'];
export const REASONS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };
