/** The replicas of the one shard, by their names on the network of the cluster. */
export const replicas = ['a', 'b'] as const
export type Replica = (typeof replicas)[number]

export const keeper = { name: 'keeper', port: 9181 }
const raftPort = 9234
const nativePort = 9000

interface Address {
  host: string
  port: number
}

/** Where the members of a cluster find one another. */
export interface Addresses {
  /** What servers listen on. */
  listen: string
  keeper: Address
  replicas: Readonly<Record<Replica, Address>>
  /** Where replicas fetch parts from one another. */
  interserver: Readonly<Record<Replica, string>>
}

/** Each in a container of its own, found by its name. */
const inContainers: Addresses = {
  listen: '0.0.0.0',
  keeper: { host: keeper.name, port: keeper.port },
  replicas: { a: { host: 'a', port: nativePort }, b: { host: 'b', port: nativePort } },
  interserver: { a: 'a', b: 'b' },
}

/** Log tables that some server versions write only when configured. */
const logs = [
  'asynchronous_insert_log',
  'backup_log',
  'blob_storage_log',
  'error_log',
  'query_views_log',
  'session_log',
  'text_log',
  'zookeeper_log',
]
const flushMs = 500

/** Settings of a server: its Keeper, its cluster `default`, who it is in it, and logs that are there soon. */
export const serverFile = (replica: Replica, at: Addresses = inContainers): string => `<clickhouse>
  <listen_host>${at.listen}</listen_host>
  <interserver_http_host>${at.interserver[replica]}</interserver_http_host>
  <zookeeper><node>${addressOf(at.keeper)}</node></zookeeper>
  <macros><cluster>default</cluster><shard>1</shard><replica>${replica}</replica></macros>
  <remote_servers replace="replace">
    <default>
      <shard>
        <internal_replication>true</internal_replication>
        ${replicas.map((name) => `<replica>${addressOf(at.replicas[name])}</replica>`).join('\n        ')}
      </shard>
    </default>
  </remote_servers>
  ${logs.map((log) => `<${log}><database>system</database><table>${log}</table><flush_interval_milliseconds>${flushMs}</flush_interval_milliseconds></${log}>`).join('\n  ')}
</clickhouse>
`

const addressOf = ({ host, port }: Address): string => `<host>${host}</host><port>${port}</port>`

/** The user that the tests are: everything is allowed, from anywhere, since the network is the cluster's own. */
export const usersFile = `<clickhouse>
  <users>
    <default>
      <password></password>
      <networks replace="replace"><ip>::/0</ip></networks>
      <access_management>1</access_management>
    </default>
  </users>
</clickhouse>
`

/** A Keeper alone, in memory as far as the tests are concerned. */
export const keeperFile = `<clickhouse>
  <listen_host>0.0.0.0</listen_host>
  <logger><level>information</level><console>1</console></logger>
  <keeper_server>
    <tcp_port>${keeper.port}</tcp_port>
    <server_id>1</server_id>
    <log_storage_path>/var/lib/clickhouse/coordination/log</log_storage_path>
    <snapshot_storage_path>/var/lib/clickhouse/coordination/snapshots</snapshot_storage_path>
    <raft_configuration>
      <server><id>1</id><hostname>${keeper.name}</hostname><port>${raftPort}</port></server>
    </raft_configuration>
  </keeper_server>
</clickhouse>
`
