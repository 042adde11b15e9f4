import { NetFailure } from '#shared/net/failure.ts'
import { measured, untold } from '../measured.ts'
import { keeperFaults, keeperTotals, readFigures } from './keeper-figures.ts'
import type { Evaluator } from './evaluator.ts'

const timeoutMs = 5_000
const failing = 2
const strained = 1

/** What is wrong with the Keeper node beside the host, by its own figures: 0 nothing, 1 it is strained, 2 it fails. */
export const keeperNode: Evaluator = async ({ host, earlier, net, signal }) => {
  if (!host.keeperMetrics)
    return { measured: untold(`no address of Keeper's own figures is configured for host ${host.name}`) }
  try {
    const answer = await net.trusted(host.keeperMetrics, { signal, timeoutMs })
    if (!answer.ok) return { measured: measured(failing, ['its figures cannot be read']) }
    const figures = readFigures(await answer.text())
    const faults = keeperFaults(figures, earlier?.keeper ?? {})
    const level = faults.some(({ isFailure }) => isFailure) ? failing : Math.min(strained, faults.length)
    const named = faults.map(({ fault }) => fault)
    return { measured: measured(level, named), keep: { keeper: keeperTotals(figures) } }
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    return { measured: measured(failing, ['it does not answer']) }
  }
}
