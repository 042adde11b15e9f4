import type { Call } from '#proto/call.ts'
import type { Handlers, Service } from '#proto/contract.ts'
import type { structureAdviceMethods } from '#proto/structure-advice.ts'
import { read } from '#shared/config/setting.ts'
import { settingAdvice, upgradeAdvice } from './structure/advise-host.ts'
import { codecAdvice } from './structure/codecs.ts'
import { readTable } from './structure/facts.ts'
import { kinds } from './structure/kinds/index.ts'
import { settings } from '../config.ts'
import type { Parts } from '../work.ts'

/** The answer has to be on its way before its caller stops listening. */
const marginMs = 2_000

/** Advice on how data is kept, and on how hosts are set up. */
export const structureAdviceHandlers = (parts: Parts): Handlers<Service<typeof structureAdviceMethods>> => ({
  adviseTable: async ({ measure, ...asked }, call) => {
    const { SVC_ADVICE_READS_DATA: readsData, SVC_ADVICE_MEASURES_CODECS: isAllowed } = read(settings, parts.env)
    // The subject proves who asks, so that no tool can have anything written.
    const mayWrite = isAllowed && measure && call.caller === 'gateway'
    const timed = { ...call, deadline: call.deadline - marginMs }
    const asking = { query: parts.query, call: timed, ...asked, readsData, mayWrite }
    const facts = await readTable(asking)
    const name = `${asked.database}.${asked.table}`
    if (typeof facts === 'string') return { recommendations: [], notes: [`${name} is left out: ${facts}.`] }
    const recommendations = [...kinds.flatMap((kind) => kind(facts)), ...(await codecAdvice(asking, facts))]
    const unread = facts.sampled === 0 ? [`Nothing of ${name} was read, so that advice on its values is missing.`] : []
    const none = recommendations.length === 0 ? ['Nothing of this table stands out.'] : []
    return { recommendations, notes: [...unread, ...none] }
  },
  adviseHost: (asked, call) => adviseHost(parts, asked.hostKey, call),
})

const adviseHost = async ({ query, clock }: Parts, hostKey: string, call: Call) => {
  const [status, tuned, states] = await Promise.all([
    query.hostStatus({ hostKey, fleet: true }, call),
    query.tunedSettings({ hostKey }, call),
    query.hostStates({}, call),
  ])
  const { metrics, version } = status
  const hardware = { cores: metrics?.cpuCores ?? null, memoryBytes: metrics?.memoryTotalBytes ?? null }
  const newest = states
    .flatMap((state) =>
      state.version !== null && state.key !== hostKey ? { key: state.key, version: state.version } : [],
    )
    .toSorted((one, other) => byNumber.compare(other.version, one.version))[0]
  const release = version.split('.').slice(0, 2).join('.')
  const isNewer = newest && byNumber.compare(newest.version.split('.').slice(0, 2).join('.'), release) > 0
  const newer = isNewer
    ? { version: newest.version, changes: await query.settingsChanges({ hostKey: newest.key, since: release }, call) }
    : undefined
  const recommendations = [
    ...settingAdvice({ ...hardware, settings: tuned }),
    ...upgradeAdvice({ version, nowMs: clock.now() }, newer),
  ]
  const unknown = hardware.cores === null || hardware.memoryBytes === null
  return {
    recommendations,
    notes: [
      ...(unknown ? ['The host does not tell its cores or its memory, so that advice by hardware is missing.'] : []),
      ...(recommendations.length === 0 ? ['Nothing of this host stands out.'] : []),
    ],
  }
}

const byNumber = new Intl.Collator('en', { numeric: true })
