import { buildOnlyVariables, type BuildVariable, clientVariables } from '#proto/build-variables.ts'
import { parseFlag, type Setting } from './setting.ts'

interface VariableKind {
  /** The allowed values, as shown in the settings reference. */
  allowed: string
  meaning(text: string | undefined): unknown
}

/** The parser of each kind of build variable. The build accepts any text; an invalid value counts as unset. */
const variableKinds: Record<BuildVariable['kind'], VariableKind> = {
  text: { allowed: 'text', meaning: (text) => text },
  flag: { allowed: 'true/1/yes/on, false/0/no/off', meaning: (text) => parseFlag(text) ?? false },
  'cloud-flag': {
    allowed: 'true/1/yes/on, cloud, false/0/no/off',
    meaning: (text) => parseFlag(text, ['cloud']) ?? false,
  },
  count: {
    allowed: 'whole number ≥ 1',
    meaning: (text) => (text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined),
  },
  url: { allowed: 'URL or path', meaning: (text) => text },
}

const toSetting = ({ doc, kind, fallback, canonical }: BuildVariable): Setting<unknown> => ({
  doc,
  audience: 'client',
  fallback: canonical ?? fallback ?? 'none',
  allowed: variableKinds[kind].allowed,
  parse: (given) => variableKinds[kind].meaning(given ?? fallback ?? undefined),
})

/** Variables that are read when the web UI is built, declared as settings for the reference and for parsing. */
export const buildTimeSettings: Readonly<Record<string, Setting<unknown>>> = Object.fromEntries(
  Object.entries<BuildVariable>({ ...clientVariables, ...buildOnlyVariables }).map(([name, variable]) => [
    name,
    toSetting(variable),
  ]),
)
