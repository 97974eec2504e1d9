import { silentLogger } from '@kube-rx/apimachinery';
import { describe, expect, it } from 'vitest';
import { userAgent } from './user-agent.ts';
import { warningLogger } from './warning-logger.ts';

describe('userAgent', () => {
  it('names program, version and platform, and nothing a header may not have', () => {
    expect(userAgent()).toBe(`kube-rx-informer/0 (${process.platform}/${process.arch}) kube-rx`);
    expect(userAgent({ name: 'my shop\r\nX: y', version: '1.2+a' })).toMatch(/^my_shop_X_y\/1\.2\+a \(/);
  });
});

describe('warningLogger', () => {
  const setUp = (options: { deduplicate?: boolean; maxRemembered?: number } = {}) => {
    const texts: unknown[] = [];
    const logger = {
      ...silentLogger,
      warn: (_message: string, fields?: { readonly text?: unknown }) => texts.push(fields?.text),
    };
    return { texts, warn: warningLogger({ logger, ...options }) };
  };

  it('logs each text of code 299 once', () => {
    const { texts, warn } = setUp();
    for (const text of ['old', 'old', '', 'older']) warn({ code: 299, agent: '-', text });
    warn({ code: 199, agent: '-', text: 'other code' });
    expect(texts).toEqual(['old', 'older']);
  });

  it('logs every time when told so, and forgets the oldest text beyond its bound', () => {
    const every = setUp({ deduplicate: false });
    for (let n = 0; n < 3; n++) every.warn({ code: 299, agent: '-', text: 'old' });
    expect(every.texts).toHaveLength(3);
    const bounded = setUp({ maxRemembered: 2 });
    for (const text of ['a', 'b', 'c', 'a']) bounded.warn({ code: 299, agent: '-', text });
    expect(bounded.texts).toEqual(['a', 'b', 'c', 'a']);
  });
});
