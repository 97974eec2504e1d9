// Joins the compiled modules into a few files: loading four hundred of them is most of what the start of a process would take.
// The shared vocabulary stays a package of its own, so that its classes are the same for everybody.
export default {
  input: { index: 'dist/index.js', 'etcd-remote': 'dist/etcd-remote.js', cli: 'dist/server/cli.js' },
  platform: 'node',
  external: [/^@kube-rx\//, 'ws', 'yaml', 're2js'],
  output: { dir: 'dist/bundle', format: 'esm', sourcemap: true, cleanDir: true },
};
