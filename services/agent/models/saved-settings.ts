import type { Logger } from 'pino'
import { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import {
  type ModelSettings,
  type ModelSettingsSecrets,
  type ModelSettingsUpdate,
  savedModelFields,
} from '#proto/models.ts'
import type { Environment } from '#shared/config/environment.ts'
import { NetFailure } from '#shared/net/failure.ts'
import type { Net } from '#shared/net/net.ts'
import { readSealKey } from '#shared/seal/config.ts'
import { seal, unseal } from '#shared/seal/seal.ts'
import { type Collection, defineCollection, openCollections } from '#shared/store/collection/collection.ts'
import { openLastKnownValue } from '#shared/store/last-known-value.ts'
import type { Database } from '#shared/store/sql/connection.ts'
import type { Clock } from '#shared/time/clock.ts'
import { modelSettings } from './config.ts'

type SavedField = (typeof savedModelFields)[number]

/** The variable of each setting. A variable that is set takes precedence over the saved value. */
const variables = { apiKey: 'LLM_API_KEY', baseUrl: 'LLM_API_BASE', model: 'LLM_MODEL' } as const

/** The stored settings. The API key is encrypted. */
const StoredSettings = z.object({
  id: z.string(),
  sealedKey: z.string().nullable(),
  baseUrl: z.string().nullable(),
  model: z.string().nullable(),
  /** Whether the address was entered on this machine, so that it may be private. */
  isLocal: z.boolean(),
  changedAtMs: z.int(),
})
type StoredSettings = z.infer<typeof StoredSettings>

const storedSettings = defineCollection({
  name: 'watchhouse_agent_settings',
  schema: StoredSettings,
  columns: {},
  idOf: ({ id }) => id,
  valuesOf: () => ({}),
})

const settingsId = 'model-gateway'
const emptySettings: StoredSettings = {
  id: settingsId,
  sealedKey: null,
  baseUrl: null,
  model: null,
  isLocal: false,
  changedAtMs: 0,
}
const keyAssociatedData = JSON.stringify(['model-gateway', variables.apiKey])

/** Changed settings; absent fields keep their values, null deletes them. */
export type SettingsChange = ModelSettingsUpdate & ModelSettingsSecrets & { isCallerLocal: boolean }

/** Environment and network of requests to model gateways. */
export interface ModelAccess {
  /** The variables of this process, with saved settings in place of those that are not set. */
  env: Environment
  /** Sends requests. Saved addresses must not reach internal networks. */
  net: Pick<Net, 'trusted'>
}

/** The settings of the model gateway that were saved in the product. */
export interface SavedModelSettings extends ModelAccess {
  /** Reads changes by other processes, at most every two seconds. `env` contains them afterwards. */
  refresh(): Promise<void>
  describe(): Promise<ModelSettings>
  save(change: SettingsChange): Promise<ModelSettings>
  remove(): Promise<ModelSettings>
  /** Returns the access with changed settings, after the checks of saving them. */
  preview(change: SettingsChange): Promise<ModelAccess>
}

interface SavedSettingsDeps {
  env: Environment
  net: Net
  /** Undefined if no state database is configured. */
  database: Database | undefined
  clock: Clock
  log: Logger
}

/** Opens the saved settings. While the database is unavailable, their last known values are used. */
export const openSavedModelSettings = async (deps: SavedSettingsDeps): Promise<SavedModelSettings> => {
  const { env, net, database, clock, log } = deps
  const stored = (await openCollections('agent', [storedSettings], database)).of(storedSettings)
  let known = emptySettings
  const latest = openLastKnownValue({
    initial: emptySettings,
    clock,
    read: async () => (await stored.get(settingsId)) ?? emptySettings,
    log,
    named: 'model settings',
  })
  const refresh = async (): Promise<void> => {
    known = await latest.get()
  }
  const describe = async () => {
    await refresh()
    return describeSettings(env, known, findSaveProblem(env, database))
  }
  const write = async (next: StoredSettings | undefined) => {
    await requireStorable(env, database, stored, next)
    latest.changed()
    return describe()
  }
  return {
    ...createAccess(env, net, () => known),
    refresh,
    describe,
    save: async (change) => {
      await refresh()
      return write({ ...(await applyChange(deps, known, change)), changedAtMs: clock.now() })
    },
    remove: () => write(undefined),
    async preview(change) {
      await refresh()
      const draft = await applyChange(deps, known, change)
      return createAccess(env, net, () => draft)
    },
  }
}

const findSaveProblem = (env: Environment, database: Database | undefined): string | null => {
  if (database === undefined) return 'no state database is configured; set SVC_DATA_DIRECTORY or SVC_STATE_DB_URL'
  return readSealKey(env) ? null : missingKeyProblem
}

const missingKeyProblem = 'SVC_USER_CONNECTIONS_ENCRYPTION_KEY is not set'

const createUnsavableError = (problem: string): ServiceError =>
  new ServiceError('not-implemented', `cannot save model settings: ${problem}`)

/** Stores or deletes the settings; throws `not-implemented` if they cannot be stored. */
const requireStorable = async (
  env: Environment,
  database: Database | undefined,
  stored: Collection<StoredSettings, Record<never, never>, never>,
  next: StoredSettings | undefined,
): Promise<void> => {
  const problem = findSaveProblem(env, database)
  if (problem !== null) throw createUnsavableError(problem)
  if (next === undefined) await stored.remove({ id: settingsId })
  else await stored.put([next])
}

/** Returns the access with the current settings. Variables take precedence over them. */
const createAccess = (env: Environment, net: Net, current: () => StoredSettings): ModelAccess => {
  const texts = () => readTexts(env, current())
  const properties = savedModelFields.map((field) => {
    const name = variables[field]
    return [name, { enumerable: true, get: () => env[name] || (texts()[field] ?? undefined) }] as const
  })
  return {
    // `env` is the prototype, so all other variables are read from it.
    env: Object.create(env, Object.fromEntries(properties)),
    net: {
      trusted: (url, outgoing) => {
        const isSaved = !env[variables.baseUrl] && isSameOrigin(url, texts().baseUrl)
        if (!isSaved) return net.trusted(url, outgoing)
        return selectNet(net, current().isLocal).guarded('model-gateway')(url, outgoing)
      },
    },
  }
}

/** Returns the network for a saved address. An address that was entered on this machine may be private. */
const selectNet = (net: Net, isLocal: boolean): Pick<Net, 'guarded' | 'check'> => (isLocal ? net.local : net)

const isSameOrigin = (url: string | URL, base: string | null): boolean =>
  base !== null && URL.canParse(base) && new URL(url).origin === new URL(base).origin

type SettingTexts = Record<SavedField, string | null>

/**
 * Returns the usable saved values. The address is used only together with the saved key, because a key of the operator
 * must not be sent to it.
 */
const readTexts = (env: Environment, { sealedKey, baseUrl, model }: StoredSettings): SettingTexts => {
  const key = readSealKey(env)
  const apiKey = (sealedKey !== null && key && unseal(sealedKey, keyAssociatedData, key)) || null
  const isOwnKey = apiKey !== null && !env[variables.apiKey]
  return { apiKey, baseUrl: isOwnKey ? baseUrl : null, model }
}

const describeSettings = (env: Environment, stored: StoredSettings, problem: string | null): ModelSettings => {
  const texts = readTexts(env, stored)
  return {
    problem,
    fields: savedModelFields.map((field) => {
      const variable = variables[field]
      const isSecret = field === 'apiKey'
      const text = env[variable] || texts[field]
      const value = text && isSecret ? '••••' : text
      const source = env[variable] ? 'environment' : texts[field] === null ? 'default' : 'database'
      return { field, variable, isSecret, value, source }
    }),
  }
}

/** Returns the settings after a change. Throws `invalid` or `conflict` and names the field; messages quote no value. */
const applyChange = async (
  { env, net }: SavedSettingsDeps,
  before: StoredSettings,
  change: SettingsChange,
): Promise<StoredSettings> => {
  for (const field of savedModelFields) if (change[field] !== undefined) requireChangeable(env, field, change[field])
  const { apiKey, baseUrl = before.baseUrl, model = before.model, isCallerLocal } = change
  const isMoved = baseUrl !== null && !isSameOrigin(baseUrl, before.baseUrl)
  if (isMoved && apiKey === undefined)
    throw createInvalidError('apiKey', 'is required with a new base URL: saved keys are not sent to a new address')
  if (baseUrl !== null && model === null && !env[variables.model])
    throw createInvalidError('model', 'is required with a base URL')
  if (change.baseUrl) await requireAllowedAddress(selectNet(net, isCallerLocal), change.baseUrl)
  return {
    ...before,
    baseUrl,
    model,
    sealedKey: apiKey === undefined ? before.sealedKey : apiKey && sealKey(env, apiKey),
    isLocal: change.baseUrl === undefined ? before.isLocal : isCallerLocal,
  }
}

const requireChangeable = (env: Environment, field: SavedField, text: string | null): void => {
  const variable = variables[field]
  if (env[variable])
    throw new ServiceError('conflict', `${field} is set by ${variable}; change the variable`, {
      details: { parameter: field, variable },
    })
  if (text === null) return
  if (field === 'apiKey' && !/^[\x21-\x7e]{1,512}$/.test(text))
    throw createInvalidError(field, 'must have at most 512 printable ASCII characters without spaces')
  if (field === 'baseUrl' && env[variables.apiKey])
    throw createInvalidError(field, `cannot be set: ${variables.apiKey} is a variable, whose key is not sent elsewhere`)
  try {
    modelSettings[variable].parse(text)
  } catch (error) {
    throw createInvalidError(field, error instanceof Error ? error.message : 'is invalid')
  }
}

const requireAllowedAddress = async (net: Pick<Net, 'check'>, url: string): Promise<void> => {
  try {
    await net.check(url, 'model-gateway')
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    throw createInvalidError('baseUrl', 'must be a public address, or a private one that the operator allows')
  }
}

const sealKey = (env: Environment, apiKey: string): string => {
  const key = readSealKey(env)
  if (key) return seal(apiKey, keyAssociatedData, key)
  throw createUnsavableError(missingKeyProblem)
}

const createInvalidError = (parameter: SavedField, sentence: string): ServiceError =>
  new ServiceError('invalid', `${parameter} ${sentence}`, { details: { parameter } })
