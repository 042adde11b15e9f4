import type { ChangeKind } from '#proto/http/changes.ts'
import { queryClickHouse } from '../../testing/fetch-json.ts'
import type { ChangeableServer } from './changeable-server.ts'

/** A change that the timeline must contain. */
export interface SeededChange {
  name: string
  kind: ChangeKind
  /** The title of every row of the timeline about this change. */
  title: RegExp
  atMs: number
  /** Whether the time is exact to an hour only. */
  isHourly?: boolean
}

/** What exists before the first snapshot. */
export const statementsBefore: readonly string[] = [
  'CREATE DATABASE shop',
  'CREATE TABLE shop.orders (id UInt64, price Float32, day Date) ORDER BY id',
  'CREATE TABLE shop.old (id UInt64) ORDER BY id',
  'CREATE ROLE reader',
  'GRANT SELECT ON shop.* TO reader',
  "CREATE USER leaving IDENTIFIED WITH sha256_password BY 'of the user'",
  'CREATE USER staying',
  'CREATE QUOTA small FOR INTERVAL 1 hour MAX queries = 1000 TO reader',
]

/** A statement, and what the timeline must contain after it. */
type SeededStatement = Omit<SeededChange, 'atMs'> & { statement: string }

/** The changes that statements make. */
export const seededStatements: readonly SeededStatement[] = [
  {
    name: 'column added',
    kind: 'schema',
    title: /^table shop\.orders changed$/,
    statement: 'ALTER TABLE shop.orders ADD COLUMN note String CODEC(ZSTD(3))',
  },
  {
    name: 'table created',
    kind: 'schema',
    title: /^table shop\.items created$/,
    statement: 'CREATE TABLE shop.items (id UInt64, day Date) ORDER BY id TTL day + INTERVAL 30 DAY',
  },
  {
    name: 'table dropped',
    kind: 'schema',
    title: /^table shop\.old removed$/,
    statement: 'DROP TABLE shop.old SYNC',
  },
  {
    name: 'view created',
    kind: 'schema',
    title: /^table shop\.by_day created$/,
    statement: 'CREATE VIEW shop.by_day AS SELECT day, count() AS orders FROM shop.orders GROUP BY day',
  },
  { name: 'database created', kind: 'schema', title: /^database depot created$/, statement: 'CREATE DATABASE depot' },
  {
    name: 'dictionary created',
    kind: 'schema',
    title: /^dictionary shop\.names created$/,
    statement:
      "CREATE DICTIONARY shop.names (id UInt64, name String) PRIMARY KEY id SOURCE(HTTP(URL 'http://ada:hunter2@127.0.0.1:1/names' FORMAT 'CSV')) LAYOUT(FLAT()) LIFETIME(300)",
  },
  {
    name: 'function created',
    kind: 'schema',
    title: /^function with_tax created$/,
    statement: 'CREATE FUNCTION with_tax AS price -> price * 1.2',
  },
  {
    name: 'user created',
    kind: 'access',
    title: /^user arriving created$/,
    statement: "CREATE USER arriving IDENTIFIED WITH sha256_password BY 'hunter2'",
  },
  {
    name: 'user changed',
    kind: 'access',
    title: /^user staying changed$/,
    statement: "ALTER USER staying HOST IP '10.0.0.0/8'",
  },
  { name: 'user dropped', kind: 'access', title: /^user leaving removed$/, statement: 'DROP USER leaving' },
  { name: 'role created', kind: 'access', title: /^role writer created$/, statement: 'CREATE ROLE writer' },
  {
    name: 'grant given',
    kind: 'access',
    title: /^grants role writer created$/,
    statement: 'GRANT INSERT ON shop.orders TO writer',
  },
  {
    name: 'grant revoked',
    kind: 'access',
    title: /^grants role reader (changed|removed)$/,
    statement: 'REVOKE SELECT ON shop.* FROM reader',
  },
  {
    name: 'role given',
    kind: 'access',
    title: /^grants staying created$/,
    statement: 'GRANT reader TO staying',
  },
  {
    name: 'quota changed',
    kind: 'access',
    title: /^quota small changed$/,
    statement: 'ALTER QUOTA small FOR INTERVAL 1 hour MAX queries = 10 TO reader',
  },
  {
    name: 'row policy created',
    kind: 'access',
    title: /^row policy own_rows ON shop\.orders created$/,
    statement: 'CREATE ROW POLICY own_rows ON shop.orders FOR SELECT USING id = 1 TO reader',
  },
  {
    name: 'settings profile created',
    kind: 'settings',
    title: /^settings profile careful created$/,
    statement: 'CREATE SETTINGS PROFILE careful SETTINGS max_memory_usage = 1000000000',
  },
]

interface ConfigurationFile {
  path: string
  text(directory: string): string
  changes: readonly Omit<SeededChange, 'atMs'>[]
}

const configurations: Readonly<Record<'live' | 'restart', readonly ConfigurationFile[]>> = {
  live: [
    {
      path: 'users.d/limits.xml',
      text: () => '<clickhouse><profiles><default><max_threads>3</max_threads></default></profiles></clickhouse>',
      changes: [
        {
          name: 'setting of the profile',
          kind: 'settings',
          title: /^(setting max_threads created|settings profile default (created|changed))$/,
        },
      ],
    },
    {
      path: 'config.d/topology.xml',
      text: (
        directory,
      ) => `<clickhouse><macros><shard>7</shard></macros><remote_servers><pair><shard><replica><host>127.0.0.1</host><port>1</port></replica></shard></pair></remote_servers>
<storage_configuration><disks><spare><path>${directory}/spare/</path></spare></disks>
<policies><tiered><volumes><main><disk>spare</disk></main></volumes></tiered></policies></storage_configuration></clickhouse>`,
      changes: [
        { name: 'macro', kind: 'topology', title: /^macro shard created$/ },
        { name: 'cluster', kind: 'topology', title: /^cluster pair created$/ },
        { name: 'disk', kind: 'topology', title: /^disk spare created$/ },
        { name: 'storage policy', kind: 'topology', title: /^storage policy tiered created$/ },
      ],
    },
  ],
  restart: [
    {
      path: 'config.d/limits.xml',
      text: () =>
        '<clickhouse><max_concurrent_queries>77</max_concurrent_queries><merge_tree><parts_to_throw_insert>5000</parts_to_throw_insert></merge_tree></clickhouse>',
      changes: [
        { name: 'server setting', kind: 'settings', title: /^server setting max_concurrent_queries created$/ },
        { name: 'setting of MergeTree', kind: 'settings', title: /^merge tree setting parts_to_throw_insert created$/ },
      ],
    },
  ],
}

/** Changes files of the configuration, which are reloaded at once if they can be. */
export const applyConfiguration = async (
  server: ChangeableServer,
  when: keyof typeof configurations,
): Promise<SeededChange[]> => {
  for (const { path, text } of configurations[when]) await server.write(path, text(server.directory))
  if (when === 'live') await queryClickHouse(server.url, 'SYSTEM RELOAD CONFIG')
  const atMs = Date.now()
  return configurations[when].flatMap(({ changes }) => changes.map((change) => ({ ...change, atMs })))
}
