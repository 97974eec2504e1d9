// @kube-rx/fake-apiserver/etcd-remote: the server's storage on a real etcd.
export { RemoteEtcd, type RemoteEtcdOptions } from './etcd/remote/remote-etcd.ts';
