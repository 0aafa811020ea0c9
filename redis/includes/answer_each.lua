-- Included by the scripts that work for many callers at once: a key of another type fails one of them alone.
--
-- given.calls   the calls, each with keys of its own
--
-- Returns the answer to each call, or the reason of its failure.
-- include reason_of
local function answerEach(answer)
  local answers = {}
  for i, call in ipairs(given.calls) do
    local isDone, result = pcall(answer, keysOf(i), call)
    answers[i] = isDone and result or reasonOf(result)
  end
  return answers
end
