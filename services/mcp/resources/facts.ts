import { readTableSchema } from '../table-schema.ts'
import type { Facts } from './resource.ts'

const mostParts = 1_000

/** Every kind of facts, each of them of the first host and of any host. */
export const facts: readonly Facts[] = [
  {
    name: 'databases',
    path: 'databases',
    title: 'Databases',
    description: 'Databases with what is in them',
    feature: 'TABLES',
    read: (_names, { key }, { query, call }) => query.exploreDatabases({ hostKey: key }, call),
  },
  {
    name: 'tables',
    path: 'databases/{database}/tables',
    title: 'Tables of a database',
    description: 'Tables, views and dictionaries of a database',
    feature: 'TABLES',
    read: ({ database = '' }, { key }, { query, call }) => query.exploreTables({ hostKey: key, database }, call),
  },
  {
    name: 'table-schema',
    path: 'databases/{database}/tables/{table}/schema',
    title: 'Schema of a table',
    description: 'Columns, engine and keys of a table',
    feature: 'TABLES',
    read: ({ database = '', table = '' }, host, context) => readTableSchema(context, host, { database, table }),
  },
  {
    name: 'table-parts',
    path: 'databases/{database}/tables/{table}/parts',
    title: 'Parts of a table',
    description: 'Active parts of a table, largest first',
    feature: 'TABLES',
    read: ({ database = '', table = '' }, { key }, { query, call }) =>
      query.exploreParts({ hostKey: key, database, table, limit: mostParts }, call),
  },
]
