import { optionalTextSetting, secretSetting, textSetting, urlSetting } from '../config/setting.ts'

/** Settings of the state database. */
export const databaseSettings = {
  SVC_STATE_DB_URL: secretSetting(
    'State database: a PostgreSQL URL, or file: and libsql: for SQLite. Falls back to DATABASE_URL, POSTGRES_URL, POSTGRES_PRISMA_URL, then POSTGRES_HOST.',
  ),
  SVC_STATE_DB_USER: optionalTextSetting('User for SVC_STATE_DB_URL; overrides the one in the URL.'),
  SVC_STATE_DB_PASSWORD: secretSetting(
    'Password for SVC_STATE_DB_URL; overrides the one in the URL, or is the token of a libsql: database.',
  ),
  SVC_STATE_DB_DATABASE: optionalTextSetting('Database for SVC_STATE_DB_URL; overrides the one in the URL.'),
  SVC_STATE_DB_TABLE_PREFIX: textSetting(
    '',
    'Prefix of every table name, so that several installations can share a database.',
  ),
  DATABASE_URL: secretSetting('PostgreSQL connection string, used when SVC_STATE_DB_URL is unset.'),
  POSTGRES_URL: secretSetting('PostgreSQL connection string, used when DATABASE_URL is unset too.'),
  POSTGRES_PRISMA_URL: secretSetting('PostgreSQL connection string, used when POSTGRES_URL is unset too.'),
  POSTGRES_HOST: optionalTextSetting(
    'PostgreSQL server, or the folder of its socket; used when no connection string is set.',
  ),
  POSTGRES_PORT: optionalTextSetting('Port of POSTGRES_HOST; 5432 by default.'),
  POSTGRES_DATABASE: optionalTextSetting('Database on POSTGRES_HOST; POSTGRES_NAME by default.'),
  POSTGRES_NAME: optionalTextSetting('Alias of POSTGRES_DATABASE.'),
  POSTGRES_USER: optionalTextSetting('User of POSTGRES_HOST.'),
  POSTGRES_PASSWORD: secretSetting('Password of POSTGRES_HOST.'),
  POSTGRES_SSLMODE: optionalTextSetting(
    'TLS to POSTGRES_HOST: disable, no-verify, or any of prefer, require, verify-ca and verify-full, which all verify the certificate of the server.',
  ),
} as const

/** Settings of the store. */
export const storeSettings = {
  SVC_DATA_DIRECTORY: optionalTextSetting(
    'Directory of the state of a single process: a SQLite database and an encryption key. Used without NATS_URL, REDIS_URL and a state database; npm start sets .watchhouse, the image /var/lib/watchhouse. Unset: state is kept in memory.',
  ),
  REDIS_URL: urlSetting(
    'Redis server for the shared state of several processes. Unset: state is kept in the state database if one is set, else in memory.',
    {
      protocols: ['redis', 'rediss'],
      audience: 'secret',
    },
  ),
  ...databaseSettings,
} as const
