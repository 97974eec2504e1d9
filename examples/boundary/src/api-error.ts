// What an error of a call says, in one line.

/** The reason of a Status, '' when the error has none. */
export function reasonOf(error: unknown): string {
  const { status } = (error ?? {}) as { status?: { reason?: unknown } };
  return typeof status?.reason === 'string' ? status.reason : '';
}

export function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0]!;
}

/** As {@link messageOf}, with paths for URLs. */
export function shortMessageOf(error: unknown): string {
  return messageOf(error).replace(
    /https?:\/\/[^\s/]+(\/[^\s?]*)?(\?[^\s:]*)?/g,
    (_url, path: string | undefined) => path ?? '/',
  );
}
