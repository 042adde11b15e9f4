import type { z } from 'zod'
import { ServiceError } from '#proto/errors.ts'
import { clickhouseCode, hostFailure } from '../../clickhouse/failure.ts'
import type { MonitoredHost } from '../../hosts/host-list.ts'
import { untold } from '../measured.ts'
import type { Evaluator } from './evaluator.ts'

/** An evaluator whose statement may fail: then nothing is told, and why. */
export const failing =
  (evaluator: Evaluator): Evaluator =>
  async (asked) => {
    try {
      return await evaluator(asked)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return { measured: untold(failureOf(asked.host.name, error)) }
    }
  }

/** The rows of an answer, as they were asked for. */
export const readRows = <S extends z.ZodType>(
  host: MonitoredHost,
  schema: S,
  { rows }: { rows: unknown },
): z.output<S> => {
  const read = schema.safeParse(rows)
  if (!read.success) throw hostFailure(host, 'garbage')
  return read.data
}

/** What a server says itself repeats the statement. */
export const failureOf = (host: string, error: ServiceError): string =>
  clickhouseCode(error) === undefined
    ? error.message
    : `host ${host} cannot answer this (${clickhouseCode(error)} ${String(error.details?.clickhouseName)})`
