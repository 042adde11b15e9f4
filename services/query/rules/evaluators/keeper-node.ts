import { NetFailure } from '#shared/net/failure.ts'
import { measured, untold } from '../measured.ts'
import { keeperFaults, readFigures } from './keeper-figures.ts'
import type { Evaluator } from './evaluator.ts'

const timeoutMs = 5_000

/** What is wrong with the Keeper node beside the host, by its own figures: 0 nothing, 1 it is strained, 2 it fails. */
export const keeperNode: Evaluator = async ({ host, net, signal }) => {
  if (!host.keeperMetrics)
    return { measured: untold(`no address of Keeper's own figures is configured for host ${host.name}`) }
  try {
    const answer = await net.trusted(host.keeperMetrics, { signal, timeoutMs })
    if (!answer.ok) return { measured: measured(2, ['its figures cannot be read']) }
    const faults = keeperFaults(readFigures(await answer.text()))
    const level = faults.some(({ isFailure }) => isFailure) ? 2 : faults.length > 0 ? 1 : 0
    return {
      measured: measured(
        level,
        faults.map(({ fault }) => fault),
      ),
    }
  } catch (error) {
    if (!(error instanceof NetFailure)) throw error
    return { measured: measured(2, ['it does not answer']) }
  }
}
