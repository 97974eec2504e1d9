// The metrics an API server has on its watch path: kinds, help texts of our own, buckets.
// Upstream: apiserver@v0.30.3:pkg/endpoints/metrics/metrics.go, pkg/storage/cacher/metrics/metrics.go, pkg/storage/etcd3/metrics/metrics.go

export interface MetricFamily {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly buckets?: readonly number[];
}

const counter = (help: string): MetricFamily => ({ kind: 'counter', help });
const gauge = (help: string): MetricFamily => ({ kind: 'gauge', help });
const histogram = (help: string, buckets: readonly number[]): MetricFamily => ({ kind: 'histogram', help, buckets });

const REQUEST_SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const ETCD_SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const READ_WAIT_SECONDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3];
const EVENT_BYTES = [1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072];
const RESPONSE_BYTES = [1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

export const METRIC_FAMILIES: ReadonlyMap<string, MetricFamily> = new Map([
  ['apiserver_watch_cache_events_received_total', counter('Changes the watch cache took in, by resource.')],
  [
    'apiserver_watch_cache_events_dispatched_total',
    counter('Changes the watch cache offered to watchers, by resource.'),
  ],
  ['apiserver_watch_cache_initializations_total', counter('Times the watch cache was filled by a list, by resource.')],
  ['watch_cache_capacity', gauge('Events the ring of the watch cache can hold, by resource.')],
  ['watch_cache_capacity_increase_total', counter('Times the ring of the watch cache grew, by resource.')],
  ['watch_cache_capacity_decrease_total', counter('Times the ring of the watch cache shrank, by resource.')],
  [
    'apiserver_watch_cache_read_wait_seconds',
    histogram('Time reads waited for the watch cache to be fresh enough, by resource.', READ_WAIT_SECONDS),
  ],
  ['apiserver_init_events_total', counter('Initial events sent to watchers, by resource.')],
  ['apiserver_terminated_watchers_total', counter('Watchers ended because they did not read, by resource.')],
  ['apiserver_cache_list_total', counter('Lists answered from the watch cache.')],
  ['apiserver_cache_list_fetched_objects_total', counter('Objects read from the watch cache for lists.')],
  ['apiserver_cache_list_returned_objects_total', counter('Objects returned by lists from the watch cache.')],
  ['apiserver_watch_events_total', counter('Events sent in watch responses.')],
  ['apiserver_watch_events_sizes', histogram('Size of the events in watch responses, in bytes.', EVENT_BYTES)],
  [
    'apiserver_watch_list_duration_seconds',
    histogram('Time from the request of a streaming list to the end of its initial events.', REQUEST_SECONDS),
  ],
  ['apiserver_longrunning_requests', gauge('Open long-running requests.')],
  ['apiserver_request_total', counter('Requests, by verb, resource and code.')],
  ['apiserver_request_duration_seconds', histogram('Time to answer requests.', REQUEST_SECONDS)],
  ['apiserver_response_sizes', histogram('Size of responses, in bytes.', RESPONSE_BYTES)],
  ['apiserver_request_terminations_total', counter('Requests the server ended in self-defence.')],
  ['apiserver_request_aborts_total', counter('Requests that were aborted.')],
  ['apiserver_current_inflight_requests', gauge('Requests being answered, by kind.')],
  ['etcd_request_duration_seconds', histogram('Time etcd took to answer, by operation and type.', ETCD_SECONDS)],
  ['etcd_requests_total', counter('Requests to etcd, by operation and type.')],
  ['etcd_request_errors_total', counter('Failed requests to etcd, by operation and type.')],
  ['etcd_bookmark_counts', gauge('Progress notifications of etcd, by resource.')],
  ['etcd_lease_object_counts', histogram('Objects that share a lease.', [10, 50, 100, 500, 1000, 2500, 5000])],
  ['apiserver_storage_objects', gauge('Stored objects, by resource.')],
  ['apiserver_storage_size_bytes', gauge('Size of the storage, in bytes.')],
  ['apiserver_storage_events_received_total', counter('Events received from etcd, by resource.')],
  ['apiserver_storage_list_total', counter('Lists answered by etcd, by resource.')],
  ['apiserver_storage_list_fetched_objects_total', counter('Objects read from etcd for lists, by resource.')],
  ['apiserver_storage_list_evaluated_objects_total', counter('Objects held against selectors in lists, by resource.')],
  ['apiserver_storage_list_returned_objects_total', counter('Objects returned by lists from etcd, by resource.')],
  ['apiserver_storage_decode_errors_total', counter('Stored objects that could not be decoded, by resource.')],
  ['etcd_debugging_mvcc_compact_revision', gauge('Revision up to which the history is gone.')],
  ['etcd_debugging_mvcc_current_revision', gauge('Present revision of etcd.')],
]);
