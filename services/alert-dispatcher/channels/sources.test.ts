import { clockOf } from '#shared/time/clock.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Environment, settle, withFiles } from '#shared/config/environment.ts'
import { openNet } from '#shared/net/net.ts'
import type { ChannelSaving } from '#proto/alert-policy.ts'
import { emptyLayer, type Layer } from '../policy/layers/layer.ts'
import type { Policy } from '../policy.ts'
import { fileLayer } from '../policy/health-d/read.ts'
import { openPolicy } from '../policy/open-policy.ts'
import { describeFields, type Field, fieldsOf } from '../policy/saved/fields.ts'
import { channelEntry } from '../policy/saved/save-channel.ts'
import { memoryStores } from '../stores/collected.ts'
import type { Channel } from './channel.ts'
import { channels } from './index.ts'
import { targetsNow, variablesOf } from './targets.ts'
import { rigs } from './testing/index.ts'

/** A text of each field that names the place it is set at, by a number that fits its form. */
const texts: Readonly<Record<string, (place: number) => string>> = {
  'webhook.url': (place) => `https://chat-${place}.example/hook`,
  'email.providerUrl': (place) => `smtp://user:password@mail-${place}.example:587`,
  'email.from': (place) => `alerts-${place}@watch.example`,
  'email.to': (place) => `team-${place}@watch.example`,
  'paging-a.routingKey': (place) => `routing-key-${place}`,
  'paging-a.apiKey': (place) => `api-key-${place}`,
  'paging-b.apiKey': (place) => `api-key-${place}`,
  // There are two regions only, so that neighbouring places differ.
  'paging-b.region': (place) => (place % 2 === 0 ? 'us' : 'eu'),
  'chat-a.botToken': (place) => `${place}:token`,
  'chat-a.chatId': (place) => `-100${place}`,
  'push-a.url': (place) => `https://ntfy-${place}.example/alerts`,
  'push-a.token': (place) => `token-${place}`,
  'push-b.token': (place) => `token-${place}`,
  'push-b.user': (place) => `user-${place}`,
  'push-b.emergency': (place) => (place % 2 === 0 ? 'true' : 'false'),
  'sms.accountSid': (place) => `AC${String(place).repeat(32)}`,
  'sms.authToken': (place) => `token-${place}`,
  'sms.from': (place) => `+1415555010${place}`,
  'sms.to': (place) => `+1415555020${place}`,
}

const everyField = channels.flatMap((channel) => fieldsOf(channel).map((field) => ({ channel, ...field })))

it('has a text for every field of every channel, and no other', () => {
  expect(Object.keys(texts).toSorted()).toEqual(
    everyField.map(({ channel, field }) => `${channel.id}.${field}`).toSorted(),
  )
})

/** The highest first. */
const places = ['database', 'file', 'variable'] as const
type Place = (typeof places)[number]
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

  const textAt = (place: Place): string => texts[`${channel.id}.${field}`]?.(places.indexOf(place)) ?? ''

  it.each(combinations)('database $database, file $file, below it $variable', async (where) => {
    const { env, file } = await operatorSets({ channel, field, variable, setting }, where, { directory, textAt })
    const saved = where.database ? { settings: { [field]: textAt('database') } } : undefined
    const policy = await resolved({ env, file, channel, saved })
    const highest = where.database ? 'database' : where.file ? 'file' : where.variable === 'nothing' ? null : 'variable'
    const effective = variablesOf(channel, env, policy.channels[channel.id])
    expect(effective[variable]).toBe(highest === null ? undefined : textAt(highest))
    expect(() => targetsNow({ channels, env, policy })).not.toThrow()
    const described = describeFields(channel, policy.channels[channel.id], env).find((each) => each.field === field)
    expect(described?.source).toBe(highest === null ? 'default' : highest === 'variable' ? 'environment' : highest)
  })
})

interface Where {
  file: boolean
  variable: (typeof below)[number]
}

interface Saved {
  env: Environment
  file: Layer
  channel: Channel
  /** What the database has of the channel. */
  saved: ChannelSaving | undefined
}

/** The policy as the product resolves it, from what is saved as the product saves it. */
const resolved = async ({ env, file, channel, saved }: Saved): Promise<Policy> => {
  const store = memoryStores().policy
  if (saved) {
    await using net = openNet({ env, resolve: async () => ['93.184.215.14'] })
    await store.put('channel', channel.id, await channelEntry({ env, net, store }, channel, saved), 0)
  }
  const log = pino({ level: 'silent' })
  return openPolicy({ env, store, file, floorsOf: () => [null], clock: clockOf(() => 0), log }).current()
}

/** The switch and the floor of each channel; its further settings are valid. */
describe.each([...new Map(rigs.map((rig) => [rig.id, rig])).values()])(
  'the switch and the floor of $id',
  ({ id, env: configured, policy: brought, switchVariable, floorVariable }) => {
    const channel = channels.find((each) => each.id === id)
    const said = [undefined, 'higher', 'lower'] as const
    const enabled = { higher: true, lower: false } as const
    const floor = { higher: 'critical', lower: 'warning' } as const
    const cases = said.flatMap((database) =>
      said.flatMap((file) => said.map((variable) => ({ database, file, variable }))),
    )

    it.each(cases)('database $database, file $file, variable $variable', async ({ database, file, variable }) => {
      const env: Environment = withFiles({
        ...configured('https://chat.example'),
        SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'the key of the operator',
        ...(variable && { [switchVariable]: String(enabled[variable]), [floorVariable]: floor[variable] }),
      })
      settle(env)
      const settingsOf = (one: (typeof said)[number]) =>
        one === undefined ? undefined : { enabled: enabled[one], minSeverity: floor[one] }
      const ofFile = settingsOf(file)
      const layer = { ...emptyLayer('file'), channels: ofFile ? { [id]: ofFile } : {} }
      if (!channel) throw new Error(`there is no channel ${id}`)
      const policy = await resolved({ env, file: layer, channel, saved: settingsOf(database) })
      const highest = database ?? file ?? variable
      const targets = targetsNow({ channels: [channel], env, policy: { ...policy, ...brought } })
      expect(targets.length > 0).toBe(highest === undefined || enabled[highest])
      if (highest === 'higher') expect(targets[0]?.minSeverity).toBe('critical')
    })
  },
)

/** Variables and the folder of alert files as an operator sets them, the variables frozen as the product freezes them. */
const operatorSets = async (
  { channel, field, variable, setting }: Field & { channel: Channel },
  where: Where,
  { directory, textAt }: { directory: string; textAt(place: Place): string },
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
  const env: Environment = withFiles(variables)
  settle(env)
  return { env, file: fileLayer(env, pino({ level: 'silent' }), channels) }
}
