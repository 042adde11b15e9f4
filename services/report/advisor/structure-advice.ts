import type { CallContext } from '#proto/call.ts'
import type { ServiceHandlers, Service } from '#proto/contract.ts'
import type { structureAdviceMethods } from '#proto/structure-advice.ts'
import { parseSettings } from '#shared/config/setting.ts'
import { adviseOnSettings, adviseOnUpgrade } from './structure/advise-host.ts'
import { adviseOnCodecs } from './structure/codecs.ts'
import { readTableFacts } from './structure/table-facts.ts'
import { tableAdvisors } from './structure/kinds/index.ts'
import { settings } from '../config.ts'
import type { ReportServiceDeps } from '../background-tasks.ts'

/** Time before the deadline of the caller that is reserved for sending the response, in milliseconds. */
const marginMs = 2_000

/** Returns the handlers for advice on tables and on host settings. */
export const createStructureAdviceHandlers = (
  deps: ReportServiceDeps,
): ServiceHandlers<Service<typeof structureAdviceMethods>> => ({
  adviseTable: async ({ measure, ...request }, call) => {
    const { SVC_ADVICE_READS_DATA: readsData, SVC_ADVICE_MEASURES_CODECS: isAllowed } = parseSettings(
      settings,
      deps.env,
    )
    // Only the gateway may cause a write, never a tool of the agent or of MCP. The bus authenticates the caller.
    const mayWrite = isAllowed && measure && call.caller === 'gateway'
    const timed = { ...call, deadline: call.deadline - marginMs }
    const context = { query: deps.query, call: timed, ...request, readsData, mayWrite }
    const facts = await readTableFacts(context)
    const name = `${request.database}.${request.table}`
    if (typeof facts === 'string') return { recommendations: [], notes: [`${name} was skipped: ${facts}.`] }
    const recommendations = [...tableAdvisors.flatMap((kind) => kind(facts)), ...(await adviseOnCodecs(context, facts))]
    const unread = facts.sampled === 0 ? [`No data of ${name} was read, so advice based on its values is missing.`] : []
    const none = recommendations.length === 0 ? ['No recommendations for this table.'] : []
    return { recommendations, notes: [...unread, ...none] }
  },
  adviseHost: ({ hostKey }, call) => adviseHost(deps, hostKey, call),
})

const adviseHost = async ({ query, clock }: ReportServiceDeps, hostKey: string, call: CallContext) => {
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
    .toSorted((one, other) => numericCollator.compare(other.version, one.version))[0]
  const release = version.split('.').slice(0, 2).join('.')
  const isNewer = newest && numericCollator.compare(newest.version.split('.').slice(0, 2).join('.'), release) > 0
  const newer = isNewer
    ? { version: newest.version, changes: await query.settingsChanges({ hostKey: newest.key, since: release }, call) }
    : undefined
  const recommendations = [
    ...adviseOnSettings({ ...hardware, settings: tuned }),
    ...adviseOnUpgrade({ version, nowMs: clock.now() }, newer),
  ]
  const unknown = hardware.cores === null || hardware.memoryBytes === null
  return {
    recommendations,
    notes: [
      ...(unknown ? ['The host does not report its CPU cores or memory, so advice based on hardware is missing.'] : []),
      ...(recommendations.length === 0 ? ['No recommendations for this host.'] : []),
    ],
  }
}

const numericCollator = new Intl.Collator('en', { numeric: true })
