import { createClock } from '#shared/time/clock.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Environment, freezeEnvironment, resolveFileVariables } from '#shared/config/environment.ts'
import { openNet } from '#shared/net/net.ts'
import type { ChannelSettingsUpdate } from '#proto/alert-policy.ts'
import { createEmptyLayer, type PolicyLayer } from '../policy/layers/layer.ts'
import type { Policy } from '../policy.ts'
import { loadFileLayer } from '../policy/health-d/health-files.ts'
import { openPolicy } from '../policy/open-policy.ts'
import { describeFields, type ChannelSettingField, listFields } from '../policy/saved-channels/channel-fields.ts'
import { buildChannelEntry } from '../policy/saved-channels/save-channel.ts'
import { createMemoryStores } from '../stores/collection-stores.ts'
import type { Channel } from './channel.ts'
import { channels } from './index.ts'
import { listEnabledTargets, resolveChannelVariables } from './targets.ts'
import { channelRigs } from './testing/index.ts'

/** For each field, a function that returns a valid value that contains the number of its source. */
const texts: Readonly<Record<string, (source: number) => string>> = {
  'webhook.url': (source) => `https://chat-${source}.example/hook`,
  'email.providerUrl': (source) => `smtp://user:password@mail-${source}.example:587`,
  'email.from': (source) => `alerts-${source}@watch.example`,
  'email.to': (source) => `team-${source}@watch.example`,
  'paging-a.routingKey': (source) => `routing-key-${source}`,
  'paging-a.apiKey': (source) => `api-key-${source}`,
  'paging-b.apiKey': (source) => `api-key-${source}`,
  // There are only two regions, so neighbouring sources differ.
  'paging-b.region': (source) => (source % 2 === 0 ? 'us' : 'eu'),
  'chat-a.botToken': (source) => `${source}:token`,
  'chat-a.chatId': (source) => `-100${source}`,
  'push-a.url': (source) => `https://ntfy-${source}.example/alerts`,
  'push-a.token': (source) => `token-${source}`,
  'push-b.token': (source) => `token-${source}`,
  'push-b.user': (source) => `user-${source}`,
  'push-b.emergency': (source) => (source % 2 === 0 ? 'true' : 'false'),
  'sms.accountSid': (source) => `AC${String(source).repeat(32)}`,
  'sms.authToken': (source) => `token-${source}`,
  'sms.from': (source) => `+1415555010${source}`,
  'sms.to': (source) => `+1415555020${source}`,
}

const everyField = channels.flatMap((channel) => listFields(channel).map((field) => ({ channel, ...field })))

it('has a value for every field of every channel and no others', () => {
  expect(Object.keys(texts).toSorted()).toEqual(
    everyField.map(({ channel, field }) => `${channel.id}.${field}`).toSorted(),
  )
})

/** Sources in the order of precedence. */
const sources = ['database', 'file', 'variable'] as const
type SettingSource = (typeof sources)[number]
const below = ['nothing', 'variable', 'variable in a file'] as const

const combinations = [false, true].flatMap((database) =>
  [false, true].flatMap((file) => below.map((variable) => ({ database, file, variable }))),
)

describe.each(everyField)('$channel.id: $field', ({ channel, field, variable, setting }) => {
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'watchhouse-sources-'))
  })
  afterAll(() => rm(directory, { recursive: true }))

  const textAt = (source: SettingSource): string => texts[`${channel.id}.${field}`]?.(sources.indexOf(source)) ?? ''

  it.each(combinations)('database $database, file $file, below it $variable', async (where) => {
    const { env, file } = await operatorSets({ channel, field, variable, setting }, where, { directory, textAt })
    const saved = where.database ? { settings: { [field]: textAt('database') } } : undefined
    const policy = await resolved({ env, file, channel, saved })
    const highest = where.database ? 'database' : where.file ? 'file' : where.variable === 'nothing' ? null : 'variable'
    const effective = resolveChannelVariables(channel, env, policy.channels[channel.id])
    expect(effective[variable]).toBe(highest === null ? undefined : textAt(highest))
    expect(() => listEnabledTargets({ channels, env, policy })).not.toThrow()
    const described = describeFields(channel, policy.channels[channel.id], env).find((each) => each.field === field)
    expect(described?.source).toBe(highest === null ? 'default' : highest === 'variable' ? 'environment' : highest)
  })
})

interface Where {
  file: boolean
  variable: (typeof below)[number]
}

interface SavedChannel {
  env: Environment
  file: PolicyLayer
  channel: Channel
  /** The update to save for the channel; undefined if nothing is saved. */
  saved: ChannelSettingsUpdate | undefined
}

/** Saves the update, if any, and returns the policy that the product resolves from all sources. */
const resolved = async ({ env, file, channel, saved }: SavedChannel): Promise<Policy> => {
  const store = createMemoryStores().policy
  if (saved) {
    await using net = openNet({ env, resolve: async () => ['93.184.215.14'] })
    await store.put('channel', channel.id, await buildChannelEntry({ env, net, store }, channel, saved), 0)
  }
  const log = pino({ level: 'silent' })
  return openPolicy({ env, store, file, minSeveritiesOf: () => [null], clock: createClock(() => 0), log }).current()
}

/** Tests `enabled` and `minSeverity` of each channel. All other settings of the channel are valid. */
describe.each([...new Map(channelRigs.map((rig) => [rig.id, rig])).values()])(
  'enabled and minSeverity of $id',
  ({ id, env: envFor, policy: fromUsers, switchVariable, minSeverityVariable }) => {
    const channel = channels.find((each) => each.id === id)
    const configured = [undefined, 'higher', 'lower'] as const
    const enabled = { higher: true, lower: false } as const
    const minimum = { higher: 'critical', lower: 'warning' } as const
    const cases = configured.flatMap((database) =>
      configured.flatMap((file) => configured.map((variable) => ({ database, file, variable }))),
    )

    it.each(cases)('database $database, file $file, variable $variable', async ({ database, file, variable }) => {
      const env: Environment = resolveFileVariables({
        ...envFor('https://chat.example'),
        SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator',
        ...(variable && { [switchVariable]: String(enabled[variable]), [minSeverityVariable]: minimum[variable] }),
      })
      freezeEnvironment(env)
      const settingsOf = (one: (typeof configured)[number]) =>
        one === undefined ? undefined : { enabled: enabled[one], minSeverity: minimum[one] }
      const ofFile = settingsOf(file)
      const layer = { ...createEmptyLayer('file'), channels: ofFile ? { [id]: ofFile } : {} }
      if (!channel) throw new Error(`unknown channel ${id}`)
      const policy = await resolved({ env, file: layer, channel, saved: settingsOf(database) })
      const highest = database ?? file ?? variable
      const targets = listEnabledTargets({ channels: [channel], env, policy: { ...policy, ...fromUsers } })
      expect(targets.length > 0).toBe(highest === undefined || enabled[highest])
      if (highest === 'higher') expect(targets[0]?.minSeverity).toBe('critical')
    })
  },
)

/** Sets variables and alert files, and freezes the environment like the product. */
const operatorSets = async (
  { channel, field, variable, setting }: ChannelSettingField & { channel: Channel },
  where: Where,
  { directory, textAt }: { directory: string; textAt(source: SettingSource): string },
) => {
  const variables: Record<string, string> = {
    SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator',
    SVC_HEALTH_CONFIG_DIRECTORY: directory,
    NAMED_IN_THE_FILE: textAt('file'),
  }
  if (where.variable === 'variable') variables[variable] = textAt('variable')
  if (where.variable === 'variable in a file') {
    const path = join(directory, 'variable')
    await writeFile(path, `${textAt('variable')}\n`)
    variables[`${variable}_FILE`] = path
  }
  const isSecret = setting.audience === 'secret'
  const set = isSecret ? { secretEnv: { [field]: 'NAMED_IN_THE_FILE' } } : { target: { [field]: textAt('file') } }
  const document = { channels: where.file ? [{ channel: channel.id, ...set }] : [] }
  await writeFile(join(directory, 'channels.yaml'), JSON.stringify(document))
  const env: Environment = resolveFileVariables(variables)
  freezeEnvironment(env)
  return { env, file: loadFileLayer(env, pino({ level: 'silent' }), channels) }
}
