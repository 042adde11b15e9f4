import { describe, expect, it } from 'vitest'
import { findSettingProblems, parseSettings } from '#shared/config/setting.ts'
import {
  chooseConversationStore,
  resolveDatabaseUrl,
  findConversationProblems,
  conversationSettings,
} from './store-choice.ts'

const CONVSTORE_API_KEY = 'as_live_key'
const CONVERSATIONS_EDGESQL = 'file:/data/edge.db'
const DATABASE_URL = 'postgres://db/watch'
const all = { CONVSTORE_API_KEY, CONVERSATIONS_EDGESQL, DATABASE_URL }

describe('the conversation service', () => {
  it('is the hosted one unless the operator names another', () => {
    const address = (env: Record<string, string>) => parseSettings(conversationSettings, env).CONVSTORE_BASE_URL.href
    expect(address({})).toBe('https://agentstate.app/api')
    expect(address({ CONVSTORE_BASE_URL: 'http://localhost:8787' })).toBe('http://localhost:8787/')
  })
})

describe('the store of conversations', () => {
  it.each([
    [all, 'convstore'],
    [{ CONVERSATIONS_EDGESQL, DATABASE_URL }, 'edgesql'],
    [{ DATABASE_URL }, 'postgres'],
    [{ POSTGRES_URL: DATABASE_URL }, 'postgres'],
    [{ POSTGRES_HOST: 'db' }, 'postgres'],
    [{ SVC_STATE_DB_URL: 'file:state.db', DATABASE_URL }, 'postgres'],
    [{ SVC_STATE_DB_URL: 'file:state.db' }, 'memory'],
    [{ CONVERSATIONS_EDGESQL_DATABASE_ID: 'chats' }, 'memory'],
    [{}, 'memory'],
    [{ ...all, CONVERSATION_STORE_BACKEND: 'auto' }, 'convstore'],
    [{ ...all, CONVERSATION_STORE_BACKEND: 'edgesql' }, 'edgesql'],
    [{ ...all, CONVERSATION_STORE_BACKEND: 'Postgres ' }, 'postgres'],
    [{ ...all, CONVERSATION_STORE_BACKEND: 'memory' }, 'memory'],
  ])('with %j is %s', (env, backend) => {
    expect(chooseConversationStore(env)).toMatchObject({ backend })
    expect(findConversationProblems(env)).toEqual([])
  })

  it.each([
    ['file:/data/edge.db', undefined, 'file:/data/edge.db'],
    ['file:/data/edge.db', 'chats', 'file:/data/chats.db'],
    ['file:edge.db', 'chats', 'file:chats.db'],
    ['file:data/edge.db?mode=rw', 'chats', 'file:data/chats.db?mode=rw'],
    ['libsql://sql.example?authToken=t', 'chats', 'libsql://chats.sql.example?authToken=t'],
    ['https://sql.example:8080', '0a1b-2c', 'https://0a1b-2c.sql.example:8080/'],
  ])('bound to %s with the id %s is %s', (binding, id, url) => {
    for (const name of ['CONVERSATIONS_EDGESQL_DATABASE_ID', 'AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID']) {
      const env = { CONVERSATIONS_EDGESQL: binding, [name]: id }
      expect(chooseConversationStore(env)).toMatchObject({ backend: 'edgesql', where: { kind: 'sqlite', url } })
    }
  })

  it('has no database id for an IP address', () => {
    for (const host of ['10.0.0.1', '[::1]']) expect(resolveDatabaseUrl(`http://${host}:8080`, 'chats')).toBeUndefined()
  })

  it.each([
    [
      { CONVERSATION_STORE_BACKEND: 'convstore', DATABASE_URL },
      'CONVERSATION_STORE_BACKEND',
      /needs CONVSTORE_API_KEY/,
    ],
    [{ CONVERSATION_STORE_BACKEND: 'edgesql' }, 'CONVERSATION_STORE_BACKEND', /needs CONVERSATIONS_EDGESQL/],
    [{ CONVERSATION_STORE_BACKEND: 'postgres', CONVERSATIONS_EDGESQL }, 'CONVERSATION_STORE_BACKEND', /DATABASE_URL/],
    [{ CONVERSATION_STORE_BACKEND: 'redis' }, 'CONVERSATION_STORE_BACKEND', /must be one of auto, convstore/],
    [{ CONVSTORE_API_KEY: 'two words' }, 'CONVSTORE_API_KEY', /one word/],
    [{ CONVSTORE_API_KEY: 'key\nX-Evil: 1' }, 'CONVSTORE_API_KEY', /one word/],
    [{ CONVSTORE_BASE_URL: 'convstore.example' }, 'CONVSTORE_BASE_URL', /absolute URL/],
    [{ CONVSTORE_BASE_URL: 'https://user:pass@convstore.example' }, 'CONVSTORE_BASE_URL', /user or a password/],
    [{ CONVERSATIONS_EDGESQL: 'd1' }, 'CONVERSATIONS_EDGESQL', /absolute URL/],
    [{ CONVERSATIONS_EDGESQL, NATS_URL: 'nats://bus' }, 'CONVERSATIONS_EDGESQL', /cannot be shared/],
    [{ CONVERSATIONS_EDGESQL_DATABASE_ID: '../etc' }, 'CONVERSATIONS_EDGESQL_DATABASE_ID', /letters, digits/],
    [
      { CONVERSATIONS_EDGESQL_DATABASE_ID: 'a', AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID: 'b' },
      'CONVERSATIONS_EDGESQL_DATABASE_ID',
      /must equal its alias/,
    ],
    [
      { CONVERSATIONS_EDGESQL: 'http://10.0.0.1', AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID: 'b' },
      'AGENT_CONVERSATIONS_EDGESQL_DATABASE_ID',
      /IP address/,
    ],
    [{ SVC_CONVERSATIONS_DAYS: '0' }, 'SVC_CONVERSATIONS_DAYS', /whole number 1/],
  ])('with %j prevents the start and names %s', (env, name, sentence) => {
    const problems = [...findSettingProblems(conversationSettings, env), ...findConversationProblems(env)]
    expect(problems).toContainEqual({ name, sentence: expect.stringMatching(sentence) })
    expect(JSON.stringify(problems)).not.toContain('pass@')
  })
})
