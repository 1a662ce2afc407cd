// Types for scripts/test-providers.sh where Winnow's body and a library's argument differ by intent.

// An assistant's turn that is sent back has no id, because Winnow stores nothing at the provider.
type OutputMessage = Omit<OpenAI.Responses.ResponseOutputMessage, "id">;
type ResponsesBody = Omit<OpenAI.Responses.ResponseCreateParams, "input"> & {
  input: Array<OpenAI.Responses.EasyInputMessage | OutputMessage>;
};

// The library's argument, in the form that it has on the wire: the model is in the URL.
type GeminiConfig = Gemini.GenerateContentConfig;
type GeminiBody = {
  contents: Gemini.Content[];
  systemInstruction?: Gemini.Content;
  generationConfig?: Omit<Pick<GeminiConfig, "temperature" | "maxOutputTokens" | "responseMimeType"
    | "responseJsonSchema">, never> & {
    thinkingConfig?: { thinkingBudget?: number; thinkingLevel?: Lowercase<`${Gemini.ThinkingLevel}`> };
  };
};
