import { describe, expect, it } from 'vitest';
import { type Crd, readCrd } from './crd.ts';
import { decideNames, namesInUse } from './names.ts';

const crd = (plural: string, names: object = {}, accepted: object = {}, status: object = {}): Crd =>
  readCrd({
    metadata: { name: `${plural}.g.test` },
    spec: { group: 'g.test', names: { plural, singular: plural, kind: plural, listKind: `${plural}List`, ...names } },
    status: { acceptedNames: accepted, ...status },
  });

describe('decideNames', () => {
  const other = crd(
    'taken',
    {},
    { plural: 'taken', singular: 'take', kind: 'Take', listKind: 'TakeList', shortNames: ['t'] },
  );
  const decide = (of: Crd): ReturnType<typeof decideNames> => decideNames(of, namesInUse([other, of], 'g.test'));

  it('accepts names that nobody has', () => {
    const { acceptedNames, namesAccepted, established } = decide(crd('free', { shortNames: ['f'] }));
    expect(acceptedNames).toMatchObject({ plural: 'free', kind: 'free', shortNames: ['f'] });
    expect(namesAccepted).toMatchObject({ status: 'True', reason: 'NoConflicts', message: 'no conflicts found' });
    expect(established).toMatchObject({ status: 'False', reason: 'Installing' });
  });

  it('leaves the names of others alone, each by itself', () => {
    const decision = decide(crd('taken', { kind: 'Take', shortNames: ['t', 'x'] }));
    expect(decision.acceptedNames).toMatchObject({ plural: '', singular: '', kind: '', listKind: 'takenList' });
    expect(decision.namesAccepted).toMatchObject({
      status: 'False',
      reason: 'KindConflict',
      message: '"Take" is already in use',
    });
    expect(decision.established).toMatchObject({ status: 'False', reason: 'NotAccepted' });
  });

  it('keeps a name it had, also when it asks for a taken one, and stays established', () => {
    const had = { plural: 'mine', singular: 'mine', kind: 'Mine', listKind: 'mineList' };
    const conditions = [{ type: 'Established', status: 'True', reason: 'InitialNamesAccepted' }];
    const decision = decide(crd('mine', { kind: 'Take' }, had, { conditions }));
    expect(decision.acceptedNames.kind).toBe('Mine');
    expect(decision.namesAccepted.reason).toBe('KindConflict');
    expect(decision.established.status).toBe('True');
  });

  it('knows no conflicts between groups', () => {
    expect(namesInUse([other], 'h.test').resources.size).toBe(0);
  });
});
