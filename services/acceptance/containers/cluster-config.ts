/** The network names of the replicas. The cluster has one shard. */
export const replicaNames = ['a', 'b'] as const
export type ReplicaName = (typeof replicaNames)[number]

export const keeper = { name: 'keeper', port: 9181 }
const raftPort = 9234
const nativePort = 9000

interface Address {
  host: string
  port: number
}

/** Addresses of Keeper and the replicas of a cluster, and the folder of backups. */
export interface ClusterAddresses {
  /** The address on which the servers listen. */
  listen: string
  keeper: Address
  replicas: Readonly<Record<ReplicaName, Address>>
  /** The address of each replica for interserver communication. */
  interserver: Readonly<Record<ReplicaName, string>>
  /** The folder of the disk `backups` of each server. */
  backupPaths: Readonly<Record<ReplicaName, string>>
}

/** Addresses of a cluster whose servers run in separate containers. */
const inContainers: ClusterAddresses = {
  listen: '0.0.0.0',
  keeper: { host: keeper.name, port: keeper.port },
  replicas: { a: { host: 'a', port: nativePort }, b: { host: 'b', port: nativePort } },
  interserver: { a: 'a', b: 'b' },
  backupPaths: { a: '/var/lib/clickhouse/backups/', b: '/var/lib/clickhouse/backups/' },
}

/** System log tables that some server versions write only if they are configured. */
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

/**
 * Returns a server configuration: Keeper, cluster `default`, macros, a disk for backups, and log tables with a short
 * flush interval.
 */
export const formatServerConfig = (replica: ReplicaName, at: ClusterAddresses = inContainers): string => `<clickhouse>
  <listen_host>${at.listen}</listen_host>
  <interserver_http_host>${at.interserver[replica]}</interserver_http_host>
  <zookeeper><node>${addressOf(at.keeper)}</node></zookeeper>
  <macros><cluster>default</cluster><shard>1</shard><replica>${replica}</replica></macros>
  <remote_servers replace="replace">
    <default>
      <shard>
        <internal_replication>true</internal_replication>
        ${replicaNames.map((name) => `<replica>${addressOf(at.replicas[name])}</replica>`).join('\n        ')}
      </shard>
    </default>
  </remote_servers>
  <storage_configuration>
    <disks><backups><type>local</type><path>${at.backupPaths[replica]}</path></backups></disks>
  </storage_configuration>
  <backups><allowed_disk>backups</allowed_disk></backups>
  ${logs.map((log) => `<${log}><database>system</database><table>${log}</table><flush_interval_milliseconds>${flushMs}</flush_interval_milliseconds></${log}>`).join('\n  ')}
</clickhouse>
`

const addressOf = ({ host, port }: Address): string => `<host>${host}</host><port>${port}</port>`

/** Configuration of the user `default`, with all privileges from any network, because the network is private. */
export const usersConfig = `<clickhouse>
  <users>
    <default>
      <password></password>
      <networks replace="replace"><ip>::/0</ip></networks>
      <access_management>1</access_management>
    </default>
  </users>
</clickhouse>
`

/** The configuration of a Keeper with a single node. */
export const keeperConfig = `<clickhouse>
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
