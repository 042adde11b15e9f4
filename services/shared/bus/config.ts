import { isServiceName, serviceDependencies, serviceNames } from '#proto/call.ts'
import type { Environment } from '../config/environment.ts'
import {
  type Setting,
  type SettingProblem,
  choiceSetting,
  parseSettings,
  urlSetting,
  wholeNumberSetting,
} from '../config/setting.ts'
import { type CallKey, type RequestSigner, createKeySigner, createLocalSigner } from './signatures.ts'
import { listKeyHolders } from './subject.ts'

const natsUrl = (doc: string): Setting<URL | undefined> =>
  urlSetting(doc, { protocols: ['nats', 'tls'], audience: 'secret' })

const generateCommand = 'openssl rand -hex 32'
const deriveKeyCommand = `printf '<service>:%s' "$NATS_SIGNING_KEY" | sha256sum`

/** Minimum length of a secret: 32 random bytes in base64 without padding. */
const minSecretLength = 43

const parseSecret = (text: string): string => {
  if (text.length >= minSecretLength && !/\s/.test(text)) return text
  throw new Error(
    `must be at least ${minSecretLength} random characters without spaces, like the output of ${generateCommand}`,
  )
}

const isKey = (text: string): boolean => /^[0-9a-f]{64}$/.test(text)

const parseKey = (text: string): string => {
  if (isKey(text)) return text
  throw new Error(`must be 64 hexadecimal digits; derive the key of a service with: ${deriveKeyCommand}`)
}

const deriveCallKeyCommand = `printf '<caller>:%s' "$KEY_OF_CALLED_SERVICE" | sha256sum`

const callees = new Set(serviceNames.flatMap(listKeyHolders))

const parseCallKey = (text: string): CallKey => {
  const [callee = '', key = '', ...rest] = text.split('=')
  if (callees.has(callee) && isKey(key) && rest.length === 0) return { callee, key }
  throw new Error(`must be <service>=<64 hexadecimal digits>; derive the key of a caller with: ${deriveCallKeyCommand}`)
}

const splitList = (text: string): string[] => text.split(',').map((each) => each.trim())

interface RotatingKeys<T> {
  doc: string
  allowed: string
  parse(text: string): readonly T[]
}

/** Returns a setting for keys of the bus. The keys of the variable precede those of its `_PREVIOUS` variable. */
const createRotatingKeysSetting = <T>({ doc, allowed, parse }: RotatingKeys<T>): Setting<readonly T[] | undefined> => ({
  doc,
  audience: 'secret',
  fallback: 'none',
  allowed,
  hasPrevious: true,
  parse: (current, previous) => {
    if (current !== undefined) return [current, previous].filter((each) => each !== undefined).flatMap(parse)
    if (previous !== undefined) throw new Error('must be set if its _PREVIOUS variable is set')
    return undefined
  },
})

/** Settings of the bus, its streams, and the keys for signatures. */
export const busSettings = {
  NATS_URL: natsUrl(
    'NATS server that connects the processes. Unset: the bus is in memory and all services run in one process.',
  ),
  NATS_STREAMS_URL: natsUrl(
    'URL of the same NATS server with the stream user of gateway, ingest or alert-dispatcher; gateway then creates the streams. Unset: NATS_URL is used, and each service creates the streams that it uses.',
  ),
  NATS_REPLICAS: wholeNumberSetting(
    1,
    'Number of JetStream replicas of each stream; use 3 on a cluster of three or more servers.',
    {
      min: 1,
      max: 5,
    },
  ),
  NATS_SIGNING_KEY: createRotatingKeysSetting({
    doc: 'Secret with which gateway signs the caller identity in requests, and from which the keys of the other services are derived; required with NATS_URL in production.',
    allowed: 'at least 43 random characters; the previous secret in the variable with the suffix _PREVIOUS',
    parse: (text) => [parseSecret(text)],
  }),
  NATS_VERIFICATION_KEY: createRotatingKeysSetting({
    doc: 'Key of this service, derived from the secret of gateway, with which it verifies caller and identity of requests; required with NATS_URL in production.',
    allowed:
      '64 hexadecimal digits; one comma-separated key per service of the process; the previous key in the variable with the suffix _PREVIOUS',
    parse: (text) => splitList(text).map(parseKey),
  }),
  NATS_CALL_KEYS: createRotatingKeysSetting({
    doc: 'Keys with which this service signs its requests, one per called service or part, each derived from the key of the called service; required with NATS_URL in production.',
    allowed:
      'comma-separated <service>=<64 hexadecimal digits>, one per caller in this process and called service; the previous keys in the variable with the suffix _PREVIOUS',
    parse: (text) => splitList(text).map(parseCallKey),
  }),
  NATS_SIGNATURES: choiceSetting(
    ['required', 'accepted'],
    'required',
    'Whether unsigned requests are rejected. Use accepted only during an upgrade from a release without signatures.',
  ),
} as const

/** Returns problems that prevent a process from signing or verifying requests. */
export const findBusProblems = (env: Environment, services: readonly string[]): SettingProblem[] => {
  const { NATS_SIGNING_KEY, NATS_VERIFICATION_KEY } = env
  const isNeeded = env.NODE_ENV === 'production' || NATS_SIGNING_KEY || NATS_VERIFICATION_KEY
  if (!env.NATS_URL || !isNeeded) return []
  if (services.includes('gateway')) {
    const sentence = `must be set for gateway when NATS_URL is, so that services can verify who calls; generate it with ${generateCommand}`
    return NATS_SIGNING_KEY ? [] : [{ name: 'NATS_SIGNING_KEY', sentence }]
  }
  const problems: SettingProblem[] = []
  if (!NATS_VERIFICATION_KEY) {
    const sentence = `must be set when NATS_URL is, so that forged requests are rejected; derive it for this service: ${deriveKeyCommand}`
    problems.push({ name: 'NATS_VERIFICATION_KEY', sentence })
  }
  const lacking = findMissingCallKeys(env, services)
  if (lacking.length > 0) {
    const sentence = `must have a key for each call to ${lacking.join(', ')} when NATS_URL is set; derive it for each caller: ${deriveCallKeyCommand}`
    problems.push({ name: 'NATS_CALL_KEYS', sentence })
  }
  if (NATS_SIGNING_KEY) {
    const sentence = 'must be set for gateway alone: a process with it can forge requests to every service'
    problems.push({ name: 'NATS_SIGNING_KEY', sentence })
  }
  return problems
}

/** Returns the services and guest processes that this process calls without having a key for them. */
const findMissingCallKeys = ({ NATS_CALL_KEYS = '' }: Environment, services: readonly string[]): string[] => {
  const called = services.filter(isServiceName).flatMap((caller) => serviceDependencies[caller].flatMap(listKeyHolders))
  const given = splitList(NATS_CALL_KEYS).map((each) => each.split('=')[0])
  const countIn = (names: readonly unknown[], callee: string) => names.filter((name) => name === callee).length
  return [...new Set(called)].filter((callee) => countIn(given, callee) < countIn(called, callee))
}

/**
 * Returns the signer of this process: with keys on NATS, without keys in memory. Undefined on NATS if no keys are
 * configured.
 */
export const createRequestSigner = (env: Environment): RequestSigner | undefined => {
  const settings = () => parseSettings(busSettings, env)
  const { NATS_URL, NATS_SIGNING_KEY, NATS_VERIFICATION_KEY } = settings()
  if (NATS_URL === undefined) return createLocalSigner()
  if (NATS_VERIFICATION_KEY === undefined && NATS_SIGNING_KEY === undefined) return undefined
  const keys = () => {
    const { NATS_SIGNING_KEY: secrets = [], NATS_VERIFICATION_KEY: own = [], NATS_CALL_KEYS: calls = [] } = settings()
    return { secrets, own, calls }
  }
  return createKeySigner(keys, () => settings().NATS_SIGNATURES === 'required')
}
