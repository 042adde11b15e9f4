import { expect, it } from 'vitest'
import { findSettingProblems } from '#shared/config/setting.ts'
import { problems, settings } from './config.ts'

const file = 'file:insights.db'
const bus = 'nats://bus'

it.each([
  [{ INSIGHTS_EDGESQL: file }, []],
  [{ INSIGHTS_EDGESQL: 'libsql://edge', NATS_URL: bus }, []],
  [{ INSIGHTS_EDGESQL: file, NATS_URL: bus }, ['INSIGHTS_EDGESQL']],
  [{ CONVERSATIONS_EDGESQL: file, NATS_URL: bus }, ['CONVERSATIONS_EDGESQL']],
  [{ INSIGHTS_EDGESQL: 'postgres://edge', NATS_URL: bus }, ['INSIGHTS_EDGESQL']],
  [{ INSIGHTS_STORE_BACKEND: 'redis' }, ['INSIGHTS_STORE_BACKEND']],
  [{ SVC_INSIGHTS_DAYS: '0' }, ['SVC_INSIGHTS_DAYS']],
])('rejects the settings %j because of %j', (env, rejected) => {
  expect([...findSettingProblems(settings, env), ...problems(env)].map(({ name }) => name)).toEqual(rejected)
})
