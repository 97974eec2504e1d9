// The tag of an image reference, `latest` when neither tag nor digest is given.
// Upstream: kubernetes@v1.30.3:pkg/util/parsers/parsers.go#ParseImageName

const HOST_PART = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const HOST = `${HOST_PART}(?:\\.${HOST_PART})*(?::[0-9]+)?`;
const PATH_PART = '[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*';
const NAME = `(?:${HOST}/)?${PATH_PART}(?:/${PATH_PART})*`;
const REFERENCE = new RegExp(
  `^(${NAME})(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);

/** '' for an image with only a digest, and for what is no reference. */
export function imageTag(image: string): string {
  const match = REFERENCE.exec(image);
  if (match === null) return '';
  const [, , tag, digest] = match;
  if (tag !== undefined) return tag;
  return digest === undefined ? 'latest' : '';
}
