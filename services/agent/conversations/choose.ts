import { type ConversationBackend, conversationBackends } from '#proto/conversations.ts'
import type { Environment } from '#shared/config/environment.ts'
import { InvalidSettings, read } from '#shared/config/setting.ts'
import { edgeDatabase } from '#shared/store/edge-binding.ts'
import { postgresDatabase, type StateDatabase } from '#shared/store/sql/state-database.ts'
import { conversationSettings } from './config.ts'
import { databaseAt } from './database-id.ts'

/** A store whose prerequisite is there. */
export type Choice = { backend: 'convstore' | 'memory' } | { backend: 'edgesql' | 'postgres'; where: StateDatabase }

/** The store that the settings ask for; throws `InvalidSettings` when one is named whose prerequisite is missing. */
export const chooseStore = (env: Environment): Choice => {
  const { CONVERSATION_STORE_BACKEND: named } = read(conversationSettings, env)
  if (named !== 'auto') {
    const choice = stores[named].find(env)
    if (choice) return choice
    throw new InvalidSettings([
      { name: 'CONVERSATION_STORE_BACKEND', sentence: `${named} needs ${stores[named].needs}` },
    ])
  }
  for (const backend of conversationBackends) {
    const choice = stores[backend].find(env)
    if (choice) return choice
  }
  return { backend: 'memory' }
}

const stores: Record<ConversationBackend, { needs: string; find(env: Environment): Choice | undefined }> = {
  convstore: {
    needs: 'CONVSTORE_API_KEY, the project key of the conversation service',
    find: (env) =>
      read(conversationSettings, env).CONVSTORE_API_KEY === undefined ? undefined : { backend: 'convstore' },
  },
  edgesql: {
    needs: 'CONVERSATIONS_EDGESQL, a libsql: server or a file: of SQLite; the id of a database alone binds none',
    find: (env) => {
      const where = edgeAddress(env)
      return where === undefined ? undefined : { backend: 'edgesql', where: edgeDatabase(where) }
    },
  },
  postgres: {
    needs: 'a PostgreSQL database, such as DATABASE_URL',
    find: (env) => {
      const where = postgresDatabase(env)
      return where && { backend: 'postgres', where }
    },
  },
  memory: { needs: 'nothing', find: () => ({ backend: 'memory' }) },
}

const edgeAddress = (env: Environment): string | undefined => {
  const {
    CONVERSATIONS_EDGESQL: binding,
    CONVERSATIONS_EDGESQL_DATABASE_ID: id,
    AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID: alias,
  } = read(conversationSettings, env)
  const database = id ?? alias
  return binding === undefined || database === undefined ? binding : databaseAt(binding, database)
}
